// Package capture serves a folder of what the AWS CLI and kubectl printed as
// the account and the clusters that they were asked: the local stage takes it
// in place of a world, and the functions cannot tell the difference.
//
// A folder is read strictly by name and tolerantly by content. What a file
// does not hold was not looked at, and that is an answer of its own: see
// NotCaptured.
package capture
