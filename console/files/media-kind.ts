const kinds = {
  audio: ['aac', 'flac', 'm4a', 'mp3', 'oga', 'ogg', 'opus', 'wav'],
  video: ['m4v', 'mov', 'mp4', 'ogv', 'webm'],
} as const

/** Chooses by the extension of the name. The browser decides whether it can play the file. */
export const mediaKind = (name: string): 'audio' | 'video' | undefined => {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (kinds.audio.some((each) => each === extension)) return 'audio'
  return kinds.video.some((each) => each === extension) ? 'video' : undefined
}
