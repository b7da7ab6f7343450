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
          "epsilon": 4.8,
          "right": 0.711,
          "named": 0.086
        },
        {
          "epsilon": 5.79,
          "right": 0.784,
          "named": 0.172
        },
        {
          "epsilon": 7.26,
          "right": 0.843,
          "named": 0.331
        }
      ]
    },
    {
      "name": "film reviews",
      "texts": 9613,
      "original": 0.787,
      "rows": [
        {
          "epsilon": 4.82,
          "right": 0.563,
          "named": 0.092
        },
        {
          "epsilon": 6.2,
          "right": 0.594,
          "named": 0.171
        },
        {
          "epsilon": 7.9,
          "right": 0.652,
          "named": 0.331
        }
      ]
    }
  ]
};
