// Addresses within the page: `#/runs/ID?filter=…`. Every view has one.

import { useEffect, useState } from "preact/hooks";

export interface Route {
  path: string[];
  query: URLSearchParams;
}

export function read(): Route {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const part = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return { path: path.split("/").filter(Boolean).map(part), query: new URLSearchParams(query ?? "") };
}

export function href(path: string[], query: { [name: string]: string } = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const search = given.length ? `?${new URLSearchParams(given)}` : "";
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

export function go(path: string[], query: { [name: string]: string } = {}) {
  location.hash = href(path, query);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const change = () => setRoute(read());
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return route;
}
