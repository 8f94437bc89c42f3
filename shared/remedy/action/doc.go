// Package action is what a remedy is made of: the look that a plan rests on, a
// refusal with a typed reason, the words for people, the result of doing it, and
// the statements that allow it. It decides and says; it changes nothing, and
// imports nothing of AWS.
//
// Each remedy stands in a folder of its own beside this one, as a value Remedy;
// package remedy lists them.
package action
