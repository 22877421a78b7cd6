/** The first call opens something. Later calls return the same. */
export const onDemand = <Opened>(open: () => Opened): (() => Opened) => {
  let opened: { readonly value: Opened } | undefined
  return () => {
    opened ??= { value: open() }
    return opened.value
  }
}
