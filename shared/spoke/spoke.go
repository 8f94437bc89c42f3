// Package spoke names what is watched: a spoke is an account in a region, and a
// cluster is one's of a name. Two clusters of one name in two spokes have nothing in
// common, so the name alone is never a key.
package spoke

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ID is an account in a region. The zero ID is the hub's own: records, messages and
// buttons of the hub's own clusters bear no account, as those of the releases before
// there were spokes, which therefore are read as they are, by older releases too.
type ID struct {
	Account string `json:"account,omitempty"`
	Region  string `json:"region,omitempty"`
}

// Hub tells the hub's own account and region.
func (id ID) Hub() bool { return id == ID{} }

// String is the account and the region, "222233334444/eu-west-1"; "" for the hub's own.
func (id ID) String() string {
	if id.Hub() {
		return ""
	}
	return id.Account + "/" + id.Region
}

// Qualify is a name within the spoke, as keys have it: "222233334444/eu-west-1/prod", and
// "prod" for the hub's own. What is named so (clusters, instances, subnets, VPCs) has
// no slash in its name: no two are the same.
func (id ID) Qualify(name string) string {
	if id.Hub() {
		return name
	}
	return id.String() + "/" + name
}

// Partition is that of the region.
func (id ID) Partition() string { return Partition(id.Region) }

// RelativeTo is the spoke as the hub sees it: the zero ID for the hub's own, and for what says
// nothing of its account (records and messages of releases before there were spokes).
func (id ID) RelativeTo(hub ID) ID {
	if id == hub || id.Account == "" {
		return ID{}
	}
	return id
}

// Cluster is one cluster of all that are watched.
type Cluster struct {
	ID
	Name string
}

// String is the cluster as keys have it.
func (c Cluster) String() string { return c.Qualify(c.Name) }

// Partition is the partition of a region: "aws", "aws-cn" or "aws-us-gov".
func Partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// ErrID: a text names no account and region.
var ErrID = errors.New(`an account of twelve digits, a slash and a region are wanted ("222233334444/eu-west-1")`)

// The forms of accounts' and regions' names.
const (
	accountForm = `[0-9]{12}`
	regionForm  = `[a-z]{2}(?:-[a-z]+){1,3}-[0-9]{1,2}`
)

// Parse reads an account and a region.
func Parse(text string) (ID, error) {
	account, region, _ := strings.Cut(text, "/")
	id := ID{Account: account, Region: region}
	if !id.valid() {
		return ID{}, fmt.Errorf("%q: %w", text, ErrID)
	}
	return id, nil
}

func (id ID) valid() bool {
	return regexp.MustCompile("^"+accountForm+"$").MatchString(id.Account) && regexp.MustCompile("^"+regionForm+"$").MatchString(id.Region)
}

// ParseCluster reads a cluster as settings name it: "prod" of the hub's own,
// "222233334444/eu-west-1/prod" of another spoke. It does not judge the name.
func ParseCluster(text string) (Cluster, error) {
	if !strings.Contains(text, "/") {
		return Cluster{Name: text}, nil
	}
	i := strings.LastIndex(text, "/")
	id, err := Parse(text[:i])
	return Cluster{id, text[i+1:]}, err
}
