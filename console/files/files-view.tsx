import { usePage } from '../app/context.ts'

/** The files of the site. */
export const FilesView = () => {
  const { client } = usePage()
  return <p>{client.site.name}</p>
}
