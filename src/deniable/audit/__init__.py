"""Attacks on a release, for the people who make it: what can an adversary still learn?

An audit measures one attack on one mechanism, embedding and ε. That an attack fails proves nothing about others; the
guarantee is proven beside each mechanism. Audits never write released text.
"""
