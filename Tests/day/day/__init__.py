"""The operator's day: a cluster on one machine, what goes wrong in it, who notices, and how soon all is well again."""
