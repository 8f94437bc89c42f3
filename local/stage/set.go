package stage

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
)

// set is what is played: a world, or a capture.
type set struct {
	account, region, about string
	start                  time.Time
	api                    simaws.World
	history                simaws.History // nil: what is played knows of no CloudTrail
	clusters               []string       // with a Kubernetes API
	objects                func(cluster, plural string) ([]json.RawMessage, string, error)
	faults                 []worldfile.Fault
	// described tells that clusters are described with the endpoint and the
	// authority that the set gives them, which are not the stage's: what nodes
	// were started with can be held against them. The functions reach the
	// Kubernetes APIs, but through overrides.
	described bool
}

// open reads what is to be played.
func (s *Stage) open() (set, error) {
	if s.options.Capture != nil {
		return s.openCapture(), nil
	}
	file, err := s.options.LoadWorld()
	if err != nil {
		return set{}, fmt.Errorf("load the world: %w", err)
	}
	if s.options.Change != nil {
		s.options.Change(file)
	}
	if s.World, err = world.New(file, world.Options{Seed: 1, Events: s.put, Log: s.log}); err != nil {
		return set{}, fmt.Errorf("make the world: %w", err)
	}
	return set{
		account: file.Account, region: file.Region, about: file.About, start: s.World.Start(),
		api:      s.World.API(),
		history:  s.World.CloudTrail(),
		clusters: s.World.Clusters(), objects: objects(s.World), faults: file.Faults,
		described: slices.ContainsFunc(file.EKS.Clusters, func(c ekstypes.Cluster) bool { return c.Endpoint != nil }),
	}, nil
}

func (s *Stage) openCapture() set {
	c := s.options.Capture
	api := c.API()
	return set{
		account: c.Account, region: c.Region, about: "the capture " + c.Dir, start: c.Time, api: api, described: true,
		// A cluster that was not described has no endpoint to go to.
		clusters: slices.DeleteFunc(slices.Clone(c.Clusters), func(name string) bool {
			out, err := api.DescribeCluster(&eks.DescribeClusterInput{Name: &name})
			return err != nil || out.Cluster == nil
		}),
		objects: c.Objects,
	}
}
