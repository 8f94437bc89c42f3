package incidents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"rollcall/local/caller"
	"rollcall/local/doctor"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/store"
)

// StrangerError is that a deployment does not know a cluster.
type StrangerError struct {
	Cluster string
	// Known are those that it knows.
	Known []string
}

func (e *StrangerError) Error() string {
	if len(e.Known) == 0 {
		return "the deployment knows no cluster " + e.Cluster + ", nor any other"
	}
	if near := caller.Near(e.Cluster, e.Known); len(near) > 0 {
		return fmt.Sprintf("the deployment knows no cluster %s; is it %s?", e.Cluster, strings.Join(near, " or "))
	}
	return fmt.Sprintf("the deployment knows no cluster %s, only %s", e.Cluster, caller.Some(e.Known))
}

// Known is nil if a deployment knows all of some clusters: it has a record or an incident of
// each, or watches it. Of one that it does not know it is a *StrangerError: that no
// incident is open there says nothing. Watched are the clusters that it watches, asked
// only where the table has nothing.
func Known(ctx context.Context, r Records, clusters []string, watched func(context.Context) ([]string, error)) error {
	var without []string
	for _, name := range clusters {
		list, err := r.Incidents(ctx, name)
		var newer *store.NewerFormat
		if err != nil && !errors.As(err, &newer) {
			return fmt.Errorf("read the incidents of %s: %w", name, err)
		}
		if len(list) == 0 && newer == nil {
			without = append(without, name)
		}
	}
	if len(without) == 0 {
		return nil
	}
	known, err := r.Clusters(ctx)
	if err != nil {
		return err
	}
	unknown := func(name string) bool { return !slices.Contains(known, name) }
	if !slices.ContainsFunc(without, unknown) {
		return nil
	}
	names, err := watched(ctx)
	if err != nil {
		return fmt.Errorf("nothing is recorded of %s, and which clusters are watched could not be read: %w", strings.Join(slices.DeleteFunc(without, func(n string) bool { return !unknown(n) }), ", "), err)
	}
	known = append(known, names...)
	slices.Sort(known)
	known = slices.Compact(known)
	if i := slices.IndexFunc(without, unknown); i >= 0 {
		return &StrangerError{Cluster: without[i], Known: known}
	}
	return nil
}

// Watched are the clusters that the deployment in the caller's account and region
// watches: those of its setting, or all of the region.
func Watched(by caller.Caller) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		out, err := lambda.NewFromConfig(by.AWS).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(doctor.Prefix + "-launch-watch")})
		if err != nil {
			return nil, err
		}
		var set map[string]string
		if out.Environment != nil {
			set = out.Environment.Variables
		}
		cfg, err := config.Load(func(name string) string { return set[name] }, []spec.Variable{config.Clusters})
		if err != nil {
			return nil, err
		}
		if cfg.Clusters != nil {
			return cfg.Clusters, nil
		}
		var names []string
		pages := eks.NewListClustersPaginator(eks.NewFromConfig(by.AWS), &eks.ListClustersInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			names = append(names, page.Clusters...)
		}
		return names, nil
	}
}
