/** What of an error of the API decides where it is shown. */
export interface Problem {
  code: string;
  detail: string;
  errors: { path: string; message: string }[];
}

/** For each field of a form: JSON pointers into the body, and codes of problems, that are about it. */
export type Places = Record<string, readonly string[]>;

/** The sentences of a problem by field; under the empty name what is about no field. */
export function placed(problem: Problem, places: Places): Record<string, string> {
  const result: Record<string, string> = {};
  const add = (field: string, message: string) => {
    result[field] = result[field] ? `${result[field]} ${message}` : message;
  };
  const fieldOf = (path: string) =>
    Object.keys(places).find((field) =>
      places[field]?.some((each) => each.startsWith("/") && (path === each || path.startsWith(`${each}/`))),
    );
  for (const { path, message } of problem.errors) add(fieldOf(path) ?? "", message);
  if (problem.errors.length > 0) return result;
  add(Object.keys(places).find((field) => places[field]?.includes(problem.code)) ?? "", problem.detail);
  return result;
}
