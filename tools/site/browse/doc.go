// Package browse visits the built site with a real browser: every page, its links, its
// search, and what axe says of it. It has tests only, built with the tag chromium, and
// wants build/site (make site): make test-site runs both.
package browse
