/** Walks the pages of an answer. An empty page does not end the walk (W-332). */
export async function allPages<Page extends { readonly NextToken?: string }, Item>(
  ask: (token: { readonly NextToken?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  let NextToken: string | undefined;
  do {
    const page = await ask(NextToken === undefined ? {} : { NextToken });
    items.push(...itemsOf(page));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return items;
}
