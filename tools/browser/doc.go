// Package browser drives a headless Chromium with one tab, for tests of what a person sees.
// It is built with the tag chromium only, because it needs a Chromium on this machine
// (Debian: apt-get install chromium).
package browser
