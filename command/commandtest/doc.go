// Package commandtest holds the commands that Rollcall prints, to be pasted by
// people, against real shells: it has tests only.
package commandtest
