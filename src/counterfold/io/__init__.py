"""From wherever rows are to a log: sources open them, formats read files, the schema says which column has which role.

Engines and the public functions read logs through `schema.scan`.
"""
