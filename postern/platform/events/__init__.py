"""Events, recorded in the transaction of the change, and reactions to them."""
