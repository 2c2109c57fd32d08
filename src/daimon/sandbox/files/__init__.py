"""The files driver: reading and writing in a tree that somebody hostile writes into meanwhile, with more rights than they have.

Whoever operates opens the tree anew (`tree.py`), takes on the rights of its owner (`rights.py`), and opens what is below without any link
on the way (`opening.py`). So no path leads out of the tree, whatever is moved or exchanged meanwhile.
"""
