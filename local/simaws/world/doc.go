// Package world is the simulated AWS account of the local stage: it makes the
// account that a file describes and is the way to its APIs. It speaks the SDK's
// own input and output structs and knows nothing of HTTP. What the account has is
// in package state, the rules by which it changes are in the packages beside it.
//
// The world owns no clock: Advance brings it to a stage time and does everything
// that falls due on the way, in a fixed order.
package world
