// What `next.ts` uses of Next.js, which is not installed where this package is built.

declare module "next/headers.js" {
  export function headers(): Promise<HeadersInit>;
}

declare module "next/navigation.js" {
  export function redirect(path: string): never;
}

declare module "next/server.js" {
  export const NextResponse: { next(init: { request: { headers: Headers } }): Response };
}
