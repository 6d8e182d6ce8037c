import { useSearch } from "@tanstack/react-router";
import { type Interval, RANGES, type Range } from "./period";
import { WAYS, type Way } from "./snippets";

/** What a URL without these parts means. */
export const DEFAULT_RANGE: Range = 30;

/** The range in days, what a column stands for (a day), and what else is shown instead of the first choice. */
export interface OverviewSearch {
  range?: Range;
  by?: Interval;
  view?: "table";
  way?: Way;
}

/** The parts of a URL that the page knows; others mean the first choice. */
export function readOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  const range = RANGES.find((each) => each === Number(search.range) && each !== DEFAULT_RANGE);
  const way = WAYS.find((each) => each === search.way && each !== "curl");
  return {
    ...(range && { range }),
    // Seven days have no weeks to compare.
    ...(search.by === "week" && range !== 7 && { by: "week" }),
    ...(search.view === "table" && { view: "table" }),
    ...(way && { way }),
  };
}

/** The parts of this page's URL. The router also passes on what the page does not know. */
export function useOverviewSearch(): OverviewSearch {
  return readOverviewSearch(useSearch({ strict: false }));
}
