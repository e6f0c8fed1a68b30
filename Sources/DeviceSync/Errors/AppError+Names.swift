// Codes that servers may answer with, by their names in Realm Swift.

extension AppError.Code {
    /// There is no such user.
    public static let userNotFound = Self(rawValue: "userNotFound")
    /// The user is of another app.
    public static let userAppDomainMismatch = Self(rawValue: "userAppDomainMismatch")
    /// The address's domain is not allowed.
    public static let domainNotAllowed = Self(rawValue: "domainNotAllowed")
    /// The result to be read is too large.
    public static let readSizeLimitExceeded = Self(rawValue: "readSizeLimitExceeded")
    /// A parameter is not valid.
    public static let invalidParameter = Self(rawValue: "invalidParameter")
    /// A parameter is missing.
    public static let missingParameter = Self(rawValue: "missingParameter")
    /// The function failed.
    public static let functionExecutionError = Self(rawValue: "functionExecutionError")
    /// The server failed.
    public static let internalServerError = Self(rawValue: "internalServerError")
    /// There is no such value.
    public static let valueNotFound = Self(rawValue: "valueNotFound")
    /// There is such a value already.
    public static let valueAlreadyExists = Self(rawValue: "valueAlreadyExists")
    /// There is a value of that name already.
    public static let valueDuplicateName = Self(rawValue: "valueDuplicateName")
    /// There is no such function.
    public static let functionNotFound = Self(rawValue: "functionNotFound")
    /// The function cannot be read.
    public static let functionSyntaxError = Self(rawValue: "functionSyntaxError")
    /// The function is not valid.
    public static let functionInvalid = Self(rawValue: "functionInvalid")
    /// There is such an API key already.
    public static let apiKeyAlreadyExists = Self(serverName: "APIKeyAlreadyExists")
    /// The function took too long.
    public static let executionTimeLimitExceeded = Self(rawValue: "executionTimeLimitExceeded")
    /// The function cannot be called by clients.
    public static let notCallable = Self(rawValue: "notCallable")
    /// The user's address was confirmed before.
    public static let userAlreadyConfirmed = Self(rawValue: "userAlreadyConfirmed")
    /// The server is being maintained.
    public static let maintenanceInProgress = Self(rawValue: "maintenanceInProgress")
    /// The server's database failed.
    public static let mongoDBError = Self(rawValue: "mongoDBError")
}
