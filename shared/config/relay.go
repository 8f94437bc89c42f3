package config

import (
	"encoding/base64"
	"errors"
	"regexp"

	"rollcall/shared/spec"
)

// What a relay is told by its own template, and the readers of who goes without one.
const (
	RelayCluster  spec.Variable = "ROLLCALL_RELAY_CLUSTER"
	RelayEndpoint spec.Variable = "ROLLCALL_RELAY_ENDPOINT"
	RelayCA       spec.Variable = "ROLLCALL_RELAY_CA"
	InVPC         spec.Variable = "ROLLCALL_IN_VPC"
)

// Relay is what is known of relays.
type Relay struct {
	// RelayCluster is the ARN of the cluster that a relay is of, RelayEndpoint the address of
	// its API and RelayCA its authority, in PEM.
	RelayCluster, RelayEndpoint string
	RelayCA                     []byte
	// InVPC tells that the function runs in the operator's VPC, from where it reaches the
	// hub's own clusters itself.
	InVPC bool
	// Relays are the clusters whose relays are asked.
	Relays []string
}

// parseRelays reads the names of clusters, or "none".
func parseRelays(text string) ([]string, error) {
	switch text {
	case "", "none":
		return nil, nil
	case "all":
		return nil, errors.New("each cluster is named: a relay is not asked by its name alone")
	}
	return parseClusters(text)
}

var (
	clusterARN = regexp.MustCompile(`^arn:[a-z-]+:eks:[a-z0-9-]+:[0-9]{12}:cluster/[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)
	// A cluster's API has a host of EKS's own and nothing behind it (EKS API reference,
	// Cluster, endpoint): no user, no path, no query.
	clusterAPI = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:[0-9]+)?$`)
)

func (c *Config) setRelay(v spec.Variable, text string) error {
	switch v {
	case RelayCluster:
		if !clusterARN.MatchString(text) {
			return errors.New("is not the ARN of an EKS cluster")
		}
		c.RelayCluster = text
	case RelayEndpoint:
		if !clusterAPI.MatchString(text) {
			return errors.New("is not the address of a cluster's API")
		}
		c.RelayEndpoint = text
	case RelayCA:
		// As DescribeCluster gives it (certificateAuthority.data).
		ca, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(ca) == 0 {
			return errors.New("is not a cluster's authority in base64")
		}
		c.RelayCA = ca
	case InVPC:
		var err error
		if text != "" {
			c.InVPC, err = parseSwitch(text)
		}
		return err
	default:
		return errors.New("is not a setting of Rollcall")
	}
	return nil
}
