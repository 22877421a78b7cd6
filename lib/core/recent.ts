/** Sets an entry. If the map then has more than `most` entries, drops the entry that was set longest ago. */
export const setRecent = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void => {
  // The key is deleted before it is set, so that the keys stay in the order of their age.
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}
