// Written by scripts/make_service_figures.py from docs/experiments; a test fails when they differ.
export const measured = {
  "fingerprint": "f31d550f41e396e0d08280c537bbcb44",
  "mechanism": "multivariate",
  "tasks": [
    {
      "name": "news topics",
      "texts": 7600,
      "original": 0.881,
      "rows": [
        {
          "epsilon": 5.864,
          "right": 0.786,
          "named": 0.177
        },
        {
          "epsilon": 7.31,
          "right": 0.841,
          "named": 0.335
        }
      ]
    },
    {
      "name": "film reviews",
      "texts": 9613,
      "original": 0.786,
      "rows": [
        {
          "epsilon": 6.391,
          "right": 0.592,
          "named": 0.186
        },
        {
          "epsilon": 7.931,
          "right": 0.655,
          "named": 0.333
        }
      ]
    }
  ]
};
