package gather

import "rollcall/shared/fn"

func interfaceActions() []string {
	return append(fn.Actions[Network]("ec2"), fn.Actions[InstanceTypes]("ec2")...)
}
