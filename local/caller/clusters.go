package caller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// Reader reads clusters.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
}

var _ Reader = (*gather.Reader)(nil)

// parallel bounds the clusters that are described at once: EKS publishes no rate for
// DescribeCluster, and all callers of an account and region share it.
const parallel = 5

// Clusters finds those that are named, or all of the region. One that is not there is
// a mistake that names what is; one that may not be described is found all the same.
func (c Caller) Clusters(ctx context.Context, r Reader, names []string, all bool) ([]snapshot.Cluster, error) {
	if all {
		var failed *snapshot.Failure
		if names, failed = r.Clusters(ctx); failed != nil {
			return nil, fmt.Errorf("the clusters cannot be listed: %s %s (%s)", failed.Call, failed.Reason, strings.TrimSuffix(failed.Code+": "+failed.Message, ": "))
		}
		if len(names) == 0 {
			return nil, mistake("there is no cluster in %s", c.place())
		}
	}
	found := make([]snapshot.Cluster, len(names))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, name := range names {
		g.Go(func() error {
			s, err := r.Read(ctx, gather.Query{Region: c.AWS.Region, Account: c.Account, Cluster: name, Time: time.Time{}})
			if err != nil { // gather.ErrNoCluster: it gives no other
				return c.noCluster(ctx, r, name)
			}
			found[i] = s.Cluster
			return nil
		})
	}
	return found, g.Wait()
}

// noCluster says that a cluster is not there, and which ones are.
func (c Caller) noCluster(ctx context.Context, r Reader, name string) error {
	there, failed := r.Clusters(ctx)
	if failed != nil {
		return mistake("there is no cluster %s in %s", name, c.place())
	}
	if len(there) == 0 {
		return mistake("there is no cluster %s in %s, nor any other: --region names another region", name, c.place())
	}
	if near := Near(name, there); len(near) > 0 {
		return mistake("there is no cluster %s in %s; is it %s?", name, c.place(), strings.Join(near, " or "))
	}
	return mistake("there is no cluster %s in %s, only %s", name, c.place(), Some(there))
}

// Some names the first ones, and counts the rest.
func Some(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// place is where clusters are looked for.
func (c Caller) place() string { return c.AWS.Region + " of account " + c.Account }

// Near are the names that somebody may have meant: as cobra finds commands, and those
// that hold what was typed.
func Near(name string, there []string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, other := range there {
		names.AddCommand(&cobra.Command{Use: other, Run: func(*cobra.Command, []string) {}})
	}
	list := names.SuggestionsFor(name)
	for _, other := range there {
		if len(name) > 2 && strings.Contains(other, name) && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	slices.Sort(list)
	const most = 5
	return list[:min(len(list), most)]
}
