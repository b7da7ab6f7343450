// Written by scripts/make_service_figures.py from docs/experiments; a test fails when they differ.
export const measured = {
  "fingerprint": "f31d550f41e396e0d08280c537bbcb44",
  "mechanism": "multivariate",
  "tasks": [
    {
      "name": "news topics",
      "texts": 5600,
      "original": 0.866,
      "rows": [
        {
          "epsilon": 3.844,
          "right": 0.664,
          "named": 0.077
        },
        {
          "epsilon": 4.492,
          "right": 0.727,
          "named": 0.102
        },
        {
          "epsilon": 4.978,
          "right": 0.753,
          "named": 0.129
        },
        {
          "epsilon": 5.518,
          "right": 0.792,
          "named": 0.169
        },
        {
          "epsilon": 7.068,
          "right": 0.845,
          "named": 0.331
        }
      ]
    },
    {
      "name": "film reviews",
      "texts": 9613,
      "original": 0.788,
      "rows": [
        {
          "epsilon": 3.241,
          "right": 0.549,
          "named": 0.078
        },
        {
          "epsilon": 4.05,
          "right": 0.554,
          "named": 0.094
        },
        {
          "epsilon": 4.78,
          "right": 0.566,
          "named": 0.116
        },
        {
          "epsilon": 5.851,
          "right": 0.597,
          "named": 0.171
        },
        {
          "epsilon": 7.611,
          "right": 0.651,
          "named": 0.33
        }
      ]
    }
  ]
};
