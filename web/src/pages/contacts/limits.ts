/** Characters that the API takes. */
export const ADDRESS_CHARACTERS = 320;
export const ATTRIBUTE_NAME_CHARACTERS = 100;
export const AUDIENCE_NAME_CHARACTERS = 200;
