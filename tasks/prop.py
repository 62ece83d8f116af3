"""Propositional logic: find a partial assignment that satisfies a formula.

```
input    a xor b | !c
target   a=0 b=0 c=0
```
"""
