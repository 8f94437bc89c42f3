package worldfile

import "time"

// STSFile is the STS part of a world.
type STSFile struct {
	// AuthorizationMessages are the encoded messages that the account's denied requests
	// were answered with, and what they say.
	AuthorizationMessages []AuthorizationMessage
}

// AuthorizationMessage is one of them: Decoded is the JSON that `aws sts
// decode-authorization-message` prints as DecodedMessage. It is taken until Expires.
type AuthorizationMessage struct {
	Encoded string
	Decoded string
	Expires time.Time
}
