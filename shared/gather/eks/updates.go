package eks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Updates lists and describes the updates of node groups.
type Updates interface {
	ListUpdates(context.Context, *eks.ListUpdatesInput, ...func(*eks.Options)) (*eks.ListUpdatesOutput, error)
	DescribeUpdate(context.Context, *eks.DescribeUpdateInput, ...func(*eks.Options)) (*eks.DescribeUpdateOutput, error)
}

// updates are the latest of the node groups that were read.
func updates(api Updates) source.Source {
	// The reference names the cluster as well as the nodegroup.
	of := []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*", "arn:${Partition}:eks:${Region}:${Account}:nodegroup/*/*/*"}
	return source.Source{
		Name:  snapshot.Updates,
		Needs: []snapshot.Source{snapshot.Nodegroups},
		Calls: []source.Call{
			{Action: "eks:ListUpdates", Resources: of},
			{Action: "eks:DescribeUpdate", Resources: of},
		},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readUpdates(ctx, api, v)
		},
	}
}

// endOfList is how many updates are described at each end of a list. The API
// gives ids alone, and does not say in which order: the newest are at one of
// the two ends. Three tell how the last one ended, and which was before it.
const endOfList = 3

var errUpdateOrder = errors.New("the nodegroup's updates are not listed in the order of their time")

// readUpdates reads the latest updates of the node groups that were read. Each is
// a failure of its own: of one nodegroup nothing hangs on another's updates.
func readUpdates(ctx context.Context, api Updates, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.Nodegroups) {
		return nil, v.Unread(snapshot.Nodegroups)
	}
	read := map[string][]snapshot.Update{}
	lacks := map[string]snapshot.Failure{}
	for _, n := range v.Snapshot.Nodegroups {
		if v.Updated != nil && !slices.Contains(v.Updated, n.Name) {
			lacks[n.Name] = snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.NotRead, Call: v.Source.Call(), Message: "nothing has changed since they were read"}
			continue
		}
		list, err := updatesOf(ctx, api, v.Cluster, n.Name)
		if f := notTaken(v.Source, err); f != nil {
			lacks[n.Name] = *f
			continue
		}
		switch {
		case errors.Is(err, errUpdateOrder):
			lacks[n.Name] = snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.Broken, Call: v.Source.Call(), Message: err.Error()}
		case err != nil:
			return nil, fmt.Errorf("nodegroup %s: %w", n.Name, err)
		default:
			read[n.Name] = list
		}
	}
	return func(s *snapshot.Snapshot) {
		for i := range s.Nodegroups {
			s.Nodegroups[i].Updates = read[s.Nodegroups[i].Name]
		}
		source.LackAll(s, snapshot.Updates, lacks)
	}, nil
}

// notTaken is the failure of a call that nobody made when a capture was taken
// (package local/capture), nil for any other error. That updates were not
// listed is silent, as if nobody had asked: a failed update keeps no instance
// from joining by itself, and what it failed on shows in the instances, the
// scaling activities and the nodegroup's issues. That one was listed and is not
// there is half an answer: it may be the one that failed.
func notTaken(s source.Source, err error) *snapshot.Failure {
	if err == nil {
		return nil
	}
	f := s.Failure(err)
	if f.Code != snapshot.NotCaptured {
		return nil
	}
	if f.Call != s.Call() {
		f.Reason = snapshot.Broken
	}
	return f
}

// updatesOf reads the latest updates of a nodegroup, the newest first.
func updatesOf(ctx context.Context, api Updates, cluster, name string) ([]snapshot.Update, error) {
	var ids []string
	p := eks.NewListUpdatesPaginator(api, &eks.ListUpdatesInput{Name: aws.String(cluster), NodegroupName: aws.String(name)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if missing(err) {
			return nil, nil // deleted since it was read
		}
		if err != nil {
			return nil, fmt.Errorf("list updates: %w", err)
		}
		ids = append(ids, page.UpdateIds...)
	}
	whole := len(ids) <= 2*endOfList
	if !whole {
		ids = slices.Concat(ids[:endOfList], ids[len(ids)-endOfList:])
	}
	var list []snapshot.Update
	for _, id := range ids {
		out, err := api.DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: aws.String(cluster), NodegroupName: aws.String(name), UpdateId: aws.String(id)})
		if missing(err) {
			continue // EKS does not keep them for ever
		}
		if err != nil {
			return nil, fmt.Errorf("describe update %s: %w", id, err)
		}
		if out.Update == nil {
			return nil, fmt.Errorf("describe update %s: the answer holds none", id)
		}
		list = append(list, update(*out.Update))
	}
	older := func(a, b snapshot.Update) int { return a.Created.Compare(b.Created) }
	if !whole && !slices.IsSortedFunc(list, older) && !slices.IsSortedFunc(list, func(a, b snapshot.Update) int { return older(b, a) }) {
		return nil, errUpdateOrder
	}
	slices.SortStableFunc(list, func(a, b snapshot.Update) int {
		if c := older(b, a); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

func missing(err error) bool {
	var e *types.ResourceNotFoundException
	return errors.As(err, &e)
}

func update(u types.Update) snapshot.Update {
	out := snapshot.Update{ID: aws.ToString(u.Id), Type: string(u.Type), Status: string(u.Status), Created: aws.ToTime(u.CreatedAt)}
	for _, p := range u.Params {
		out.Params = append(out.Params, string(p.Type)+"="+aws.ToString(p.Value))
	}
	for _, e := range u.Errors {
		out.Errors = append(out.Errors, snapshot.Issue{Code: string(e.ErrorCode), Message: aws.ToString(e.ErrorMessage), Resources: e.ResourceIds})
	}
	return out
}
