package report

// Capacity is how many nodes an Auto Scaling group wants and how many of its instances
// are Ready nodes, in one look.
type Capacity struct {
	Group string `json:"group"`
	// Nodegroup is the managed nodegroup that the group is of; empty for a group without.
	Nodegroup string `json:"nodegroup,omitempty"`
	Desired   int    `json:"desired"`
	Ready     int    `json:"ready"`
}

// Of tells that it is of what goes by a name.
func (c Capacity) Of(name string) bool {
	return name != "" && (name == c.Group || name == c.Nodegroup)
}
