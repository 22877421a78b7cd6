import * as z from 'zod/mini'
import { largestContentId } from '../../lib/ids.ts'
import type { GroupDoc } from '../operation-doc.ts'
import { siteParameter } from '../site.doc.ts'
import { getCategoryDoc } from './get-category.doc.ts'
import { linkObjectsDoc } from './link-objects.doc.ts'
import { listCategoriesDoc } from './list-categories.doc.ts'
import { listCategoriesOfObjectDoc } from './list-categories-of-object.doc.ts'
import { listObjectsDoc } from './list-objects.doc.ts'
import { unlinkObjectsDoc } from './unlink-objects.doc.ts'

const id = z.int().check(z.minimum(1), z.maximum(largestContentId))

/** What the document says of this group. */
export const categoriesDoc: GroupDoc<'categories'> = {
  tag: {
    name: 'Categories',
    description:
      'The categories of a site, and the news items and blogs that are linked with them. Answers are JSON. The site needs the new rendering engine.',
  },
  parameters: {
    site: siteParameter,
    category: { description: 'The id of the category.', schema: id, example: 1 },
    object: { description: 'The id of the news item or of the blog.', schema: id, example: 3 },
  },
  operations: {
    listNewsOfCategory: listObjectsDoc.news,
    linkNews: linkObjectsDoc.news,
    unlinkNews: unlinkObjectsDoc.news,
    listBlogsOfCategory: listObjectsDoc.blog,
    linkBlogs: linkObjectsDoc.blog,
    unlinkBlogs: unlinkObjectsDoc.blog,
    listCategories: listCategoriesDoc,
    getCategory: getCategoryDoc,
    listCategoriesOfNews: listCategoriesOfObjectDoc.news,
    listCategoriesOfBlog: listCategoriesOfObjectDoc.blog,
  },
}
