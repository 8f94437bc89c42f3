package gather

import (
	"context"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/vpc"
	"rollcall/shared/snapshot"
)

// InterfacesWith describes all network interfaces that have one of the security
// groups, whatever they are attached to and in whichever VPC.
func (r *Reader) InterfacesWith(ctx context.Context, groups []string) ([]snapshot.Interface, *snapshot.Failure) {
	if len(groups) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	list, err := vpc.DescribeInterfaces(ctx, r.ec2, ec2api.AnyOf("group-id", groups))
	if err != nil {
		return nil, known(snapshot.Interfaces).Failure(err)
	}
	return list, nil
}
