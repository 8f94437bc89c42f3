// Package world is the simulated AWS account of the local stage: the state of
// EC2, Auto Scaling, EKS and IAM, and the rules by which it changes. It speaks
// the SDK's own input and output structs and knows nothing of HTTP.
//
// A world is loaded from a YAML file whose resources use the AWS API's field
// names, so that what `aws ... describe-* --output json` prints can be pasted
// in. The world owns no clock: Advance brings it to a stage time and does
// everything that falls due on the way, in a fixed order.
package world
