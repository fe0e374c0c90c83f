import java.io.File;
import javax.xml.XMLConstants;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.Schema;
import javax.xml.validation.SchemaFactory;
import org.xml.sax.SAXException;

/** Prints, for each document, "valid" or what is wrong with it by the schema that is named first. */
public class Validate {
    public static void main(String[] args) throws Exception {
        SchemaFactory factory = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI);
        Schema schema = factory.newSchema(new File(args[0]));
        for (int i = 1; i < args.length; i++) {
            try {
                schema.newValidator().validate(new StreamSource(new File(args[i])));
                System.out.println("valid");
            } catch (SAXException e) {
                System.out.println(e.getMessage().replace('\n', ' '));
            }
        }
    }
}
