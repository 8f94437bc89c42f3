package gather

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// look is one call of More: what its readers have to go by. While they run at
// the same time nobody changes the snapshot.
type look struct {
	r          *Reader
	q          Query
	vpcs       []string // the cluster's first
	s          *snapshot.Snapshot
	kubernetes session
}

// store puts what was read into the snapshot, once all readers are done.
type store func(*snapshot.Snapshot)

var (
	errNoVPC        = errors.New("the cluster's VPC is not known")
	errClusterBlind = errors.New("the cluster could not be read")
	errTooMany      = errors.New("there are more than are read")
	errHalf         = errors.New("the answer holds nothing")
)

// unreadError: a source cannot be read because what names its things was not.
type unreadError struct{ source snapshot.Source }

func (e unreadError) Error() string {
	return fmt.Sprintf("what to ask for is in the %s, which were not read", e.source)
}

func unread(source snapshot.Source) error { return unreadError{source} }

// wave orders the sources: those of a later wave ask for what an earlier one
// has named.
func wave(source snapshot.Source) int {
	switch source {
	case snapshot.DHCP, snapshot.TransitGateways, snapshot.UserDataOf, snapshot.Consoles, snapshot.LaunchTemplates,
		snapshot.Roles, snapshot.Access, snapshot.Updates:
		return 1
	case snapshot.PrefixListEntries, snapshot.Peerings, snapshot.Interfaces, snapshot.Images:
		return 2 // after the route tables behind transit gateways, and the launch templates
	}
	return 0
}

// waves is how many there are.
const waves = 3

// with adds the sources that others cannot do without.
func with(sources []snapshot.Source) []snapshot.Source {
	all := slices.Clone(sources)
	for i := 0; i < len(all); i++ {
		for _, needed := range namedBy(all[i]) {
			if !slices.Contains(all, needed) {
				all = append(all, needed)
			}
		}
	}
	return all
}

// namedBy are the sources that name what is read of this one.
func namedBy(source snapshot.Source) []snapshot.Source {
	switch source {
	case snapshot.DHCP:
		return []snapshot.Source{snapshot.VPCs}
	case snapshot.Peerings, snapshot.TransitGateways, snapshot.PrefixListEntries:
		return []snapshot.Source{snapshot.RouteTables}
	case snapshot.Roles, snapshot.Access:
		return []snapshot.Source{snapshot.Profiles}
	case snapshot.Updates:
		return []snapshot.Source{snapshot.Nodegroups}
	}
	return nil
}

// read reads one source and returns how to keep it.
func (l *look) read(ctx context.Context, source snapshot.Source) (store, error) {
	for _, reader := range []func(snapshot.Source) func(context.Context) (store, error){l.machines, l.managed, l.inKubernetes} {
		if read := reader(source); read != nil {
			return read(ctx)
		}
	}
	read := l.network(source)
	if read == nil {
		return nil, fmt.Errorf("no reader for %s", source)
	}
	if len(l.vpcs) == 0 {
		return nil, errNoVPC
	}
	return read(ctx)
}

// keep returns what stores a list, sorted, in its place.
func keep[T any](list []T, err error, id func(T) string, place func(*snapshot.Snapshot) *[]T) (store, error) {
	if err != nil {
		return nil, err
	}
	if id != nil {
		list = sorted(list, id)
	}
	return func(s *snapshot.Snapshot) { *place(s) = list }, nil
}

func sorted[T any](list []T, id func(T) string) []T {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return list
}

// unique sorts a list and drops what is in it twice.
func unique[T any](list []T, id func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return id(a) == id(b) })
}

// distinct are the texts of a list, once each, without the empty one.
func distinct(list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// anyOf is the filter for all that have one of the values.
func anyOf(filter string, values []string) []types.Filter {
	return []types.Filter{{Name: aws.String(filter), Values: values}}
}

// lackAll notes the items that could not be read.
func lackAll(s *snapshot.Snapshot, source snapshot.Source, items map[string]snapshot.Failure) {
	for key, f := range items {
		s.Lack(source, key, f)
	}
}
