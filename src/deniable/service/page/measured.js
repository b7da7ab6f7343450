// Written by scripts/service/figures.py from docs/research; a test fails when they differ.
export const measured = {
  "fingerprint": "f31d550f41e396e0d08280c537bbcb44",
  "mechanism": "multivariate",
  "tasks": [
    {
      "name": "news topics",
      "guessing": 0.252,
      "original": 0.876,
      "rows": [
        {
          "epsilon": 3.859,
          "released": 0.504,
          "decoded": 0.686,
          "named": 0.078
        },
        {
          "epsilon": 4.493,
          "released": 0.569,
          "decoded": 0.745,
          "named": 0.102
        },
        {
          "epsilon": 4.981,
          "released": 0.645,
          "decoded": 0.765,
          "named": 0.13
        },
        {
          "epsilon": 5.511,
          "released": 0.704,
          "decoded": 0.795,
          "named": 0.168
        },
        {
          "epsilon": 7.064,
          "released": 0.8,
          "decoded": 0.842,
          "named": 0.33
        }
      ]
    },
    {
      "name": "film reviews",
      "guessing": 0.516,
      "original": 0.78,
      "rows": [
        {
          "epsilon": 3.26,
          "released": 0.514,
          "decoded": 0.543,
          "named": 0.078
        },
        {
          "epsilon": 4.082,
          "released": 0.518,
          "decoded": 0.563,
          "named": 0.095
        },
        {
          "epsilon": 4.776,
          "released": 0.53,
          "decoded": 0.571,
          "named": 0.115
        },
        {
          "epsilon": 5.86,
          "released": 0.544,
          "decoded": 0.601,
          "named": 0.171
        },
        {
          "epsilon": 7.599,
          "released": 0.613,
          "decoded": 0.644,
          "named": 0.33
        }
      ]
    }
  ]
};
