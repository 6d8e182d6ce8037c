"""Parts of the APIs of other providers, so that a program that sends mail by one of them can send with Postern after a
change of the base URL. Each package calls the operations of the other layers; nothing is implemented twice."""
