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
          "epsilon": 3.859,
          "right": 0.678,
          "named": 0.078
        },
        {
          "epsilon": 4.493,
          "right": 0.724,
          "named": 0.102
        },
        {
          "epsilon": 4.981,
          "right": 0.754,
          "named": 0.13
        },
        {
          "epsilon": 5.511,
          "right": 0.793,
          "named": 0.168
        },
        {
          "epsilon": 7.064,
          "right": 0.846,
          "named": 0.33
        }
      ]
    },
    {
      "name": "film reviews",
      "texts": 9613,
      "original": 0.788,
      "rows": [
        {
          "epsilon": 3.26,
          "right": 0.543,
          "named": 0.078
        },
        {
          "epsilon": 4.082,
          "right": 0.563,
          "named": 0.095
        },
        {
          "epsilon": 4.776,
          "right": 0.571,
          "named": 0.115
        },
        {
          "epsilon": 5.86,
          "right": 0.593,
          "named": 0.171
        },
        {
          "epsilon": 7.599,
          "right": 0.647,
          "named": 0.33
        }
      ]
    }
  ]
};
