// Posts the one form of the page; its button stays for browsers without scripts.
document.forms[0].submit();
