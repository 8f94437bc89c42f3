package wire

import (
	"cmp"
	"strings"
)

// protocol is one of the wire protocols.
type protocol int

const (
	ec2Query protocol = iota // form in, XML out
	awsQuery                 // form in, XML with a result wrapper out
	awsJSON                  // X-Amz-Target, JSON in and out
	restJSON                 // method and path, JSON in and out
	restXML                  // method and path, XML out
	passOnly                 // JSON service that is only passed on
	objects                  // S3: method and path, bodies as they are, passed on
)

// service is what the protocol layer knows of an AWS service.
type service struct {
	// name is the SDK's package name, signing the name in the credential
	// scope, which is mostly the prefix of its IAM actions, too.
	name, signing string
	// prefix is that of its IAM actions, where it is another.
	prefix      string
	protocol    protocol
	version     string // API version of query services
	namespace   string // XML namespace of query services
	target      string // prefix of X-Amz-Target
	contentType string
	// What the service answers when it denies, throttles and breaks.
	denied, throttled, broken Error
}

const (
	json10 = "application/x-amz-json-1.0"
	json11 = "application/x-amz-json-1.1"
)

// services lists the services that can be simulated. The error codes and
// statuses are the ones each service documents as its common errors.
func services() []service {
	const rate = "Rate exceeded"
	return []service{
		{name: "ec2", signing: "ec2", protocol: ec2Query, version: "2016-11-15",
			namespace: "http://ec2.amazonaws.com/doc/2016-11-15/", contentType: "text/xml;charset=UTF-8",
			denied:    Error{Code: "UnauthorizedOperation", Status: 403},
			throttled: Error{Code: "RequestLimitExceeded", Message: "Request limit exceeded.", Status: 503},
			broken:    Error{Code: "InternalError", Message: "An internal error has occurred", Status: 500}},
		{name: "autoscaling", signing: "autoscaling", protocol: awsQuery, version: "2011-01-01",
			namespace: "http://autoscaling.amazonaws.com/doc/2011-01-01/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "An internal failure occurred.", Status: 500}},
		{name: "iam", signing: "iam", protocol: awsQuery, version: "2010-05-08",
			namespace: "https://iam.amazonaws.com/doc/2010-05-08/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "ServiceFailure", Message: "The request processing has failed because of an unknown error.", Status: 500}},
		{name: "sts", signing: "sts", protocol: awsQuery, version: "2011-06-15",
			namespace: "https://sts.amazonaws.com/doc/2011-06-15/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "An internal failure occurred.", Status: 500}},
		// botocore's model (sns/2010-03-31): the query protocol, Throttled with 429, AuthorizationError with 403.
		{name: "sns", signing: "sns", protocol: awsQuery, version: "2010-03-31",
			namespace: "http://sns.amazonaws.com/doc/2010-03-31/", contentType: "text/xml",
			denied:    Error{Code: "AuthorizationError", Status: 403},
			throttled: Error{Code: "Throttled", Message: rate, Status: 429},
			broken:    Error{Code: "InternalError", Message: "An internal error occurred.", Status: 500}},
		{name: "eks", signing: "eks", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 429},
			broken:    Error{Code: "ServerException", Message: "Internal server error", Status: 500}},
		// Lambda API reference, "Common errors" and the errors of GetFunctionConfiguration.
		{name: "lambda", signing: "lambda", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "TooManyRequestsException", Message: rate, Status: 429},
			broken:    Error{Code: "ServiceException", Message: "The AWS Lambda service encountered an internal error.", Status: 500}},
		{name: "sqs", signing: "sqs", protocol: awsJSON, target: "AmazonSQS.", contentType: json10,
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "The request has failed due to an internal error.", Status: 500}},
		{name: "secretsmanager", signing: "secretsmanager", protocol: awsJSON, target: "secretsmanager.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServiceError", Message: "An error occurred on the server side.", Status: 500}},
		{name: "eventbridge", signing: "events", protocol: awsJSON, target: "AWSEvents.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalException", Message: "An internal error occurred.", Status: 500}},
		{name: "cloudtrail", signing: "cloudtrail", protocol: awsJSON, target: "CloudTrail_20131101.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "The request processing has failed because of an unknown error, exception or failure.", Status: 500}},
		{name: "cloudwatchlogs", signing: "logs", protocol: awsJSON, target: "Logs_20140328.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "ServiceUnavailableException", Message: "The service cannot complete the request.", Status: 500}},
		{name: "route53resolver", signing: "route53resolver", protocol: awsJSON, target: "Route53Resolver.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServiceErrorException", Message: "An internal error occurred.", Status: 500}},
		// botocore's model (route53/2013-04-01): REST and XML. Route 53 API reference, "Common
		// errors" and ThrottlingException of its operations.
		{name: "route53", signing: "route53", protocol: restXML, namespace: "https://route53.amazonaws.com/doc/2013-04-01/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "An internal failure occurred.", Status: 500}},
		// botocore's model (route53profiles/2018-05-10): REST and JSON.
		{name: "route53profiles", signing: "route53profiles", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 429},
			broken:    Error{Code: "InternalServiceErrorException", Message: "An internal error occurred.", Status: 500}},
		// botocore's model (arc-zonal-shift/2022-10-30): REST and JSON.
		{name: "arczonalshift", signing: "arc-zonal-shift", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 429},
			broken:    Error{Code: "InternalServerException", Message: "There was an internal server error.", Status: 500}},
		// botocore's model (cloudwatch/2010-08-01): JSON 1.0 is one of its three protocols.
		{name: "cloudwatch", signing: "monitoring", prefix: "cloudwatch", protocol: awsJSON, target: "GraniteServiceVersion20100801.", contentType: json10,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServiceFault", Message: "Request processing has failed due to some unknown error, exception, or failure.", Status: 500}},
		// S3 API reference, "Error responses", and its tables of error codes.
		{name: "s3", signing: "s3", protocol: objects, contentType: "application/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "SlowDown", Message: "Please reduce your request rate.", Status: 503},
			broken:    Error{Code: "InternalError", Message: "We encountered an internal error. Please try again.", Status: 500}},
		{name: "dynamodb", signing: "dynamodb", protocol: passOnly, target: "DynamoDB_20120810.", contentType: json10,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServerError", Message: "The request processing has failed because of an unknown error.", Status: 500}},
	}
}

// isJSON tells whether errors are JSON, as opposed to XML.
func (s service) isJSON() bool {
	return s.protocol == awsJSON || s.protocol == restJSON || s.protocol == passOnly
}

// action is the operation as IAM writes it.
func (s service) action(operation string) string {
	if s.name == "lambda" && operation == "Invoke" {
		operation = "InvokeFunction" // service authorization reference, AWS Lambda
	}
	return cmp.Or(s.prefix, s.signing) + ":" + operation
}

// deniedError is the answer to a caller without the permission, in AWS's
// words. EC2 puts a sentence of its own in front.
func (s service) deniedError(callerARN, operation string) *Error {
	action := s.action(operation)
	e := s.denied
	e.Message = "User: " + callerARN + " is not authorized to perform: " + action +
		" because no identity-based policy allows the " + action + " action"
	if s.protocol == ec2Query {
		e.Message = "You are not authorized to perform this operation. " + e.Message
	}
	return &e
}

// unknownOperation is the answer to an operation without a handler.
func (s service) unknownOperation(operation string) *Error {
	if s.isJSON() {
		return &Error{Code: "UnknownOperationException", Status: 400,
			Message: "The operation " + strings.TrimSpace(s.signing+" "+operation) + " is not one of the simulated AWS"}
	}
	return Errorf("InvalidAction", "The action %s is not valid for this web service", operation)
}
