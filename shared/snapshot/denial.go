package snapshot

// Denial is what AWS says of a request that it refused for want of permission.
type Denial struct {
	// Who asked: an ARN, of a role's session without the session's name.
	Who string `json:"who,omitempty"`
	// Action is ec2:RunInstances, Resource what it was to act on.
	Action   string `json:"action,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Explicit tells that a statement of a policy denies it; else none allows it.
	Explicit bool `json:"explicit,omitempty"`
	// Kind is of the policy, as AWS names it: service control policy, permissions
	// boundary, identity-based policy; empty where AWS does not say. Policy is its
	// ARN, which AWS gives within an organization alone.
	Kind   string `json:"kind,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Statements are those that denied it: a decoded message tells them.
	Statements []DeniedStatement `json:"statements,omitempty"`
}

// DeniedStatement is a statement of a policy that denied a request. AWS tells
// which condition keys it has and what values they name, and not by which operator.
type DeniedStatement struct {
	ID         string            `json:"id,omitempty"` // Sid; empty for one without
	Conditions []DeniedCondition `json:"conditions,omitempty"`
}

// DeniedCondition is a condition key of such a statement.
type DeniedCondition struct {
	Key string `json:"key"`
	// Names are the values in the statement, Has those of the request; none where
	// the request has no such key.
	Names []string `json:"names,omitempty"`
	Has   []string `json:"has,omitempty"`
}

// DecodedMessage is an encoded authorization message, and what came of decoding it.
type DecodedMessage struct {
	Encoded string
	// Denial is what it says; nil where it could not be decoded.
	Denial *Denial
	// Failure is why it could not.
	Failure *Failure
}
