/** Rates above these make mailbox providers restrict a sender: shares from 0 to 1. */
export const BOUNCE_LIMIT = 0.02;
export const COMPLAINT_LIMIT = 0.001;
/** Fewer e-mails than this say little about a rate. */
export const JUDGED_FROM = 200;
