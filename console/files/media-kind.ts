/** Chooses by the extension of the name. The browser decides whether it can play the file. */
export const mediaKind = (name: string): 'audio' | 'video' | undefined => {
  if (/\.(aac|flac|m4a|mp3|oga|ogg|opus|wav)$/i.test(name)) return 'audio'
  return /\.(m4v|mov|mp4|ogv|webm)$/i.test(name) ? 'video' : undefined
}
