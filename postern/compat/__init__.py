"""Parts of the APIs of other companies, so that a program that sends with them can send with Postern by another base
URL. Each package calls the operations of the other layers; nothing is implemented twice."""
