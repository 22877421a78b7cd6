import { route } from './routes.ts'

/** The id that the address names first; undefined where there is none. */
export const chosenId = (): number | undefined => {
  const [text = ''] = route.value.path
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** Whether the screen has room for a list and what is chosen of it, beside each other. */
export const hasRoom = (): boolean => matchMedia('(min-width: 641px)').matches
