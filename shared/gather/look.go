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
	// counted tells that this look counts all interfaces; counts is what it
	// counted, where the reader does not keep it for a sweep.
	counted bool
	counts  counts
	// uncounted is why the count failed: what failed one source is not tried
	// again for the other.
	uncounted error
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
type unreadError struct {
	source snapshot.Source
	// code is notCaptured where nobody asked for that one either.
	code string
}

func (e unreadError) Error() string {
	return fmt.Sprintf("what to ask for is in the %s, which were not read", e.source)
}

func unread(source snapshot.Source) error { return unreadError{source: source} }

// unread tells of a source of addresses whether the one before it was refused,
// or only not captured: a capture may leave these out.
func (l *look) unread(source snapshot.Source) error {
	e := unreadError{source: source}
	if l.s.Why(source).Code == notCaptured {
		e.code = notCaptured
	}
	return e
}

// wave orders the sources: those of a later wave ask for what an earlier one
// has named.
func wave(source snapshot.Source) int {
	switch source {
	case snapshot.DHCP, snapshot.TransitGateways, snapshot.UserDataOf, snapshot.Consoles, snapshot.LaunchTemplates,
		snapshot.Roles, snapshot.Access, snapshot.Updates, snapshot.ENIConfigsOf, snapshot.CreatorsOf,
		snapshot.VolumesOf: // after the PersistentVolumes, which name volumes
		return 1
	case snapshot.PrefixListEntries, snapshot.Peerings, snapshot.Interfaces, snapshot.Images:
		return 2 // after the route tables behind transit gateways, and the launch templates
	case snapshot.CIDRsKept:
		return 2 // after the ENIConfigs, which name subnets of pods
	case snapshot.Usage:
		return 3
	}
	return 0
}

// turn is a source's wave in one look. Where all interfaces are counted, the
// unattached ones are taken out of the same pages.
func turn(source snapshot.Source, counted bool) int {
	switch {
	case counted && source == snapshot.Unattached:
		return wave(snapshot.Usage)
	case counted && source == snapshot.CreatorsOf:
		return wave(snapshot.Usage) + 1
	}
	return wave(source)
}

// waves is how many there are.
const waves = 5

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
	case snapshot.CreatorsOf:
		return []snapshot.Source{snapshot.Unattached}
	case snapshot.CIDRsKept:
		return []snapshot.Source{snapshot.Subnets}
	case snapshot.Usage:
		return []snapshot.Source{snapshot.Subnets, snapshot.CIDRsKept}
	case snapshot.ENIConfigsOf:
		return []snapshot.Source{snapshot.AWSNode}
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
