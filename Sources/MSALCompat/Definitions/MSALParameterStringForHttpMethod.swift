/// The method's name as HTTP writes it, such as `GET`.
public func MSALParameterStringForHttpMethod(_ httpMethod: MSALHttpMethod) -> String! {
    String(describing: httpMethod)
}
