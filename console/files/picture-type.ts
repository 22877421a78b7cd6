// A map, because the name of a file may be `constructor`.
const pictureTypes = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['bmp', 'image/bmp'],
  ['ico', 'image/x-icon'],
  ['svg', 'image/svg+xml'],
])

export const isPage = (name: string): boolean => /\.html?$/i.test(name)

/** The media type for the browser, by extension. Pictures of these types cannot run scripts. */
export const pictureType = (name: string): string | undefined =>
  pictureTypes.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
