import type { NewCustomer } from "@postern/sdk";
import { objectIn } from "./history.ts";

/** Customers of one request. */
export const MOST_IN_REQUEST = 1_000;
/** Octets of one request, below the 16 MiB that the API takes. */
const MOST_OCTETS = 12_000_000;

/** What a column of a file can be. */
export type Field =
  | "email"
  | "name"
  | "firstName"
  | "lastName"
  | "language"
  | "phone"
  | "externalUserId"
  | "emailVerified"
  | "passwordHash"
  | "roles"
  | "metadata";

/** Heads by which columns are known, in small letters and without anything between words. */
const HEADS: Record<string, Field> = {
  email: "email",
  emailaddress: "email",
  mail: "email",
  name: "name",
  fullname: "name",
  displayname: "name",
  firstname: "firstName",
  givenname: "firstName",
  lastname: "lastName",
  familyname: "lastName",
  language: "language",
  locale: "language",
  preferredlanguage: "language",
  phone: "phone",
  phonenumber: "phone",
  externaluserid: "externalUserId",
  externalid: "externalUserId",
  userid: "externalUserId",
  emailverified: "emailVerified",
  emailverifiedat: "emailVerified",
  emailconfirmedat: "emailVerified",
  verified: "emailVerified",
  passwordhash: "passwordHash",
  encryptedpassword: "passwordHash",
  passworddigest: "passwordHash",
  roles: "roles",
  metadata: "metadata",
};

/** Why a line is not sent. */
export type Fault =
  | "nobody"
  | "email"
  | "name"
  | "language"
  | "phone"
  | "externalUserId"
  | "passwordHash"
  | "roles"
  | "metadata";

export interface Sheet {
  /** The customers, with the numbers of their lines in the file. */
  customers: { line: number; customer: NewCustomer }[];
  faults: { line: number; fault: Fault; value: string }[];
  /** Heads of columns that are used, by what they are, and of those that are not. */
  used: { head: string; field: Field }[];
  unused: string[];
}

/** The rows of a CSV file (RFC 4180) with commas, semicolons or tabs, and the line on which each begins. */
export function rowsOf(text: string): { line: number; values: string[] }[] {
  const content = text.replace(/^\uFEFF/, "");
  const head = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(content)?.[0].replaceAll(/"(?:[^"]|"")*"/g, "") ?? "";
  const separator = [",", ";", "\t"].reduce((best, each) =>
    head.split(each).length > head.split(best).length ? each : best,
  );
  const rows: { line: number; values: string[] }[] = [];
  let values: string[] = [];
  let value = "";
  let isQuoted = false;
  let line = 1;
  let start = 1;
  const endValue = () => {
    values.push(value);
    value = "";
  };
  const endRow = () => {
    endValue();
    if (values.some((each) => each.trim())) rows.push({ line: start, values });
    values = [];
    start = line;
  };
  for (let at = 0; at < content.length; at++) {
    const character = content[at] ?? "";
    if (character === "\n") line++;
    if (isQuoted) {
      if (character !== '"') value += character;
      else if (content[at + 1] === '"') {
        value += '"';
        at++;
      } else isQuoted = false;
    } else if (character === '"' && value === "") isQuoted = true;
    else if (character === separator) endValue();
    else if (character === "\n") endRow();
    else if (character !== "\r" || content[at + 1] !== "\n") value += character;
  }
  if (value || values.length) endRow();
  return rows;
}

/** The customers in the text of a CSV file whose first row has the heads. */
export function customersIn(text: string): Sheet {
  const [head, ...rows] = rowsOf(text);
  const columns = (head?.values ?? []).map((each) => ({
    head: each.trim(),
    field: HEADS[each.toLowerCase().replaceAll(/[^a-z]/g, "")],
  }));
  // The first column of a kind counts.
  const at = new Map<Field, number>();
  columns.forEach(({ field }, index) => {
    if (field && !at.has(field)) at.set(field, index);
  });
  const sheet: Sheet = { customers: [], faults: [], used: [], unused: [] };
  columns.forEach(({ head, field }, index) => {
    if (field && at.get(field) === index) sheet.used.push({ head, field });
    else if (head) sheet.unused.push(head);
  });
  for (const { line, values } of rows) {
    const get = (field: Field) => values[at.get(field) ?? -1]?.trim() ?? "";
    const read = customerOf(get);
    if ("fault" in read) sheet.faults.push({ line, fault: read.fault, value: read.value });
    else sheet.customers.push({ line, customer: read });
  }
  return sheet;
}

const NO = /^(|0|f|false|n|no|nein|null)$/i;

/** One customer. What the API would refuse the whole request for is found here. */
function customerOf(get: (field: Field) => string): NewCustomer | { fault: Fault; value: string } {
  const email = get("email");
  const name = get("name") || [get("firstName"), get("lastName")].filter(Boolean).join(" ");
  const language = get("language").replaceAll("_", "-");
  const phone = get("phone")
    .replaceAll(/[\s()./-]/g, "")
    .replace(/^00/, "+");
  const externalUserId = get("externalUserId");
  const passwordHash = get("passwordHash");
  const roles = get("roles")
    .split(/[\s,;|]+/)
    .filter(Boolean);
  const metadata = get("metadata");
  if (!email && !externalUserId && !name && !phone) return { fault: "nobody", value: "" };
  if (email && (email.length < 3 || email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)))
    return { fault: "email", value: email };
  if (name.length > 200 || /[\r\n]/.test(name)) return { fault: "name", value: name };
  if (language && (language.length > 35 || !/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/.test(language)))
    return { fault: "language", value: get("language") };
  if (phone && !/^\+[1-9][0-9]{5,14}$/.test(phone)) return { fault: "phone", value: get("phone") };
  if (externalUserId.length > 255) return { fault: "externalUserId", value: externalUserId };
  if (passwordHash && (passwordHash.length < 20 || passwordHash.length > 1_000 || !email))
    return { fault: "passwordHash", value: "" };
  if (roles.length > 100 || roles.some((each) => each.length > 128)) return { fault: "roles", value: get("roles") };
  const customer: NewCustomer = {};
  if (email) customer.email = email;
  if (email && !NO.test(get("emailVerified"))) customer.emailVerified = true;
  if (name) customer.name = name;
  if (language) customer.language = language;
  if (phone) customer.phone = phone;
  if (externalUserId) customer.externalUserId = externalUserId;
  if (passwordHash) customer.passwordHash = passwordHash;
  if (roles.length) customer.roles = roles;
  if (metadata) {
    const value = objectIn(metadata);
    if (!value) return { fault: "metadata", value: metadata };
    if (Object.keys(value).length) customer.metadata = value;
  }
  return customer;
}

/** The customers in requests of the size that the API takes. */
export function inRequests<T>(customers: T[]): T[][] {
  const requests: T[][] = [];
  let octets = 0;
  for (const each of customers) {
    const size = JSON.stringify(each).length * 2;
    const last = requests.at(-1);
    if (!last || last.length === MOST_IN_REQUEST || octets + size > MOST_OCTETS) {
      requests.push([each]);
      octets = size;
    } else {
      last.push(each);
      octets += size;
    }
  }
  return requests;
}
