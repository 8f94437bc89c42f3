package state

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/defaults"
)

// OwnPairs gives the account's id to the group pairs of rules that name none.
func (w *State) OwnPairs(list []ec2types.IpPermission) {
	for _, p := range list {
		for i := range p.UserIdGroupPairs {
			defaults.Set(&p.UserIdGroupPairs[i].UserId, w.Account)
		}
	}
}
