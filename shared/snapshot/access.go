package snapshot

import "time"

// Profile is an instance profile.
type Profile struct {
	ARN   string
	Name  string
	Roles []string // ARNs; EC2 allows one
}

// Role is an IAM role with all its policies.
type Role struct {
	ARN      string
	Name     string
	Path     string // "/" for none
	Trust    string // JSON
	Policies []Policy
	// Boundary is its permissions boundary, if it has one.
	Boundary *Policy
	// Created is when it was created: one of its name may have been there before.
	Created time.Time
}

// Policy is an IAM policy's default version, or an inline policy.
type Policy struct {
	Name     string
	ARN      string // empty for an inline policy
	Document string // JSON
}

// AccessEntry is an access entry of a cluster.
type AccessEntry struct {
	Principal string // ARN
	Type      string // STANDARD, EC2_LINUX, EC2_WINDOWS, EC2, FARGATE_LINUX, HYBRID_LINUX, HYPERPOD_LINUX
	Username  string
	Groups    []string
	// Created is when it was created, Modified when it was last changed.
	Created, Modified time.Time
	// Policies are the access policies of an entry of type EC2 (EKS Auto Mode); those of
	// others are not read. A lack of AccessPoliciesOf(Principal) is why they are not known.
	Policies []AccessPolicy
}

// AccessPolicy is an access policy of EKS that is associated with an access entry.
type AccessPolicy struct {
	ARN string
	// Namespaces are those to which it is limited; empty for the whole cluster.
	Namespaces []string
}

// AccessPoliciesOf is how the access policies of a principal are named where they could not
// be read.
func AccessPoliciesOf(principal string) string { return "access policies of " + principal }

// ClassRole is a node role of NodeClasses of EKS Auto Mode that the cluster refuses. A lack of
// a class's name is why its role is not known.
type ClassRole struct {
	// Classes are the names of the NodeClasses, Name is the role's.
	Classes []string
	Name    string
	// ARN and Created are the role's; empty where it could not be read (a lack of Name).
	ARN     string
	Created time.Time
	// Entries are the access entries of roles of that name, under whatever path.
	Entries []AccessEntry
}

// PodIdentity ties a service account to a role.
type PodIdentity struct {
	Namespace      string
	ServiceAccount string
	Role           string // ARN
	// Target is the role that EKS assumes with Role's credentials, whose credentials
	// the pods get; empty where they get Role's (EKS API reference, PodIdentityAssociation
	// targetRoleArn). ExternalID is the sts:ExternalId of that call, and Untagged
	// reports that it carries no session tags.
	Target, ExternalID string
	Untagged           bool
	// Policy is a session policy in JSON: the pods may do what both it and the role
	// allow; with Target it limits that role alone. Empty for none.
	Policy string
}

// Addon is an EKS add-on of a cluster.
type Addon struct {
	Name    string
	Version string
	Status  string // ACTIVE, DEGRADED, CREATE_FAILED, …
	Issues  []Issue
	Role    string // ARN of its service account's role, if it has one
}

// AWSAuth is the ConfigMap kube-system/aws-auth.
type AWSAuth struct {
	MapRoles string // YAML
	MapUsers string
}

// CNI is the DaemonSet aws-node and its service account.
type CNI struct {
	// Env is the environment of the container aws-node.
	Env   map[string]string
	Image string
	// Desired and Ready are its numbers of pods.
	Desired, Ready int
	// Role is the service account's annotation eks.amazonaws.com/role-arn.
	Role string
}

// Pod is a pod of aws-node.
type Pod struct {
	Namespace  string
	Name       string
	Node       string // name; empty when it is not scheduled
	Phase      string
	Message    string
	Containers []Container // init containers first
	// Identity is whose credentials the pod was made with. It is set when the
	// pod is made, and stays when its service account changes.
	Identity PodCredentials
}

// PodCredentials are what the EKS Pod Identity webhook put into a pod, or did
// not.
type PodCredentials struct {
	// Told tells that the pod's containers were read.
	Told bool
	// Role is the ARN in AWS_ROLE_ARN, from the service account's annotation.
	Role string
	// ByAssociation tells that it has a token for EKS Pod Identity.
	ByAssociation bool
}

// Container is the state of a pod's container.
type Container struct {
	Name     string
	Init     bool
	Ready    bool
	Restarts int
	// State is waiting, running or terminated, with its Reason and Message.
	State    string
	Reason   string
	Message  string
	ExitCode int
	// Last is why it ended the last time; empty for never.
	Last        string
	LastMessage string
}

// CSR is a certificate signing request.
type CSR struct {
	Name     string
	Signer   string // kubernetes.io/kubelet-serving, …
	Username string
	Created  time.Time
	Approved bool
	Denied   bool
}

// NodeEvent is a Kubernetes event about a node.
type NodeEvent struct {
	Node    string
	Reason  string // RegisteredNode, NodeReady, NodeNotReady, …
	Message string
	Last    time.Time
}
